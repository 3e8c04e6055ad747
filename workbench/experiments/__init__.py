"""What notebooks and studies call: evaluation of retrieval, and the statistics that comparisons rest on.

Follows the design, "Relevance, replay, studies, comparisons". Numbers come with their interval, baseline and data.
"""
