import type { FormulaSource } from './source.ts'

/** Further built-up indices. */
export const BUILT_UP: readonly FormulaSource[] = [
  {
    id: 'nbai',
    name: 'Normalized Built-up Area Index',
    expression: '(SWIR2 - SWIR1 / GREEN) / (SWIR2 + SWIR1 / GREEN)',
    range: [-1, 0.2],
    colormap: 'oranges',
    reference: 'Waqar et al. 2012',
    reflectance: true,
  },
  {
    id: 'nhfd',
    name: 'Non-Homogeneous Feature Difference',
    expression: '(REDEDGE1 - COASTAL) / (REDEDGE1 + COASTAL)',
    range: [-0.2, 0.8],
    colormap: 'oranges',
    reference: 'Wolf 2012',
  },
  {
    id: 'vibi',
    name: 'Vegetation Index Built-up Index',
    expression: '((NIR - RED) / (NIR + RED)) / ((NIR - RED) / (NIR + RED) + (SWIR1 - NIR) / (SWIR1 + NIR))',
    range: [-2, 4],
    colormap: 'oranges_r',
    reference: 'Stathakis et al. 2012',
  },
  {
    id: 'vgnirbi',
    name: 'Visible Green-Based Built-Up Index',
    expression: '(GREEN - NIR) / (GREEN + NIR)',
    range: [-0.9, 0.4],
    colormap: 'oranges',
    reference: 'Estoque and Murayama 2015',
  },
  {
    id: 'vrnirbi',
    name: 'Visible Red-Based Built-Up Index',
    expression: '(RED - NIR) / (RED + NIR)',
    range: [-0.9, 0.4],
    colormap: 'oranges',
    reference: 'Estoque and Murayama 2015',
  },
]
