import type { FormulaSource } from './source.ts'

/** Further burn indices. */
export const BURN_HEAT: readonly FormulaSource[] = [
  {
    id: 'baim',
    name: 'Burned Area Index for MODIS',
    expression: '1 / ((0.05 - NIR) ** 2 + (0.2 - SWIR2) ** 2)',
    range: [0, 300],
    colormap: 'burn',
    reference: 'Martin et al. 2006',
    reflectance: true,
  },
  {
    id: 'nbrswir',
    name: 'Normalized Burn Ratio SWIR',
    expression: '(SWIR2 - SWIR1 - 0.02) / (SWIR2 + SWIR1 + 0.1)',
    range: [-0.5, 0.3],
    colormap: 'burn',
    reference: 'Liu et al. 2020',
    reflectance: true,
  },
  {
    id: 'ndswir',
    name: 'Normalized Difference Shortwave Infrared',
    expression: '(NIR - SWIR1) / (NIR + SWIR1)',
    range: [-0.5, 0.7],
    colormap: 'burn_r',
    reference: 'Gerard et al. 2003',
  },
]
