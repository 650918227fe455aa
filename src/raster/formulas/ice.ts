import type { FormulaSource } from './source.ts'

/** Further snow and ice indices. */
export const ICE: readonly FormulaSource[] = [
  {
    id: 'ndsiitm',
    name: 'Normalized Difference Snow and Ice Index for Landsat TM',
    expression: '(RED - SWIR1) / (RED + SWIR1)',
    range: [-0.5, 1],
    colormap: 'bone',
    reference: 'Xiao et al. 2001',
  },
  {
    id: 'ndsinw',
    name: 'Normalized Difference Snow Index Without Water',
    expression: '(NIR - SWIR1 - 0.05) / (NIR + SWIR1)',
    range: [-0.5, 1],
    colormap: 'bone',
    reference: 'Yan et al. 2020',
    reflectance: true,
  },
  {
    id: 'nbsims',
    name: 'Non-Binary Snow Index for Multi-Component Surfaces',
    expression: '0.36 * (GREEN + RED + NIR) - ((BLUE + SWIR2) / GREEN + SWIR1)',
    range: [-4, 0.5],
    colormap: 'bone',
    reference: 'Arreola-Esquivel et al. 2021',
    reflectance: true,
  },
]
