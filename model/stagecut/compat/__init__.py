"""Drop-in functions for the planners of ColossalAI and Alpa: their arguments, exact results.

``stagecut.compat.colossalai`` and ``stagecut.compat.alpa`` keep names, argument order and result
shape of the replaced functions. Results are exact float64 optima; ``(inf, None)`` = infeasible.
"""
