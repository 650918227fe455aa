import type { FormulaSource } from './source.ts'

/** Burned areas and burn severity. */
export const BURN: readonly FormulaSource[] = [
  {
    id: 'nbr',
    name: 'Normalized Burn Ratio',
    expression: '(NIR - SWIR2) / (NIR + SWIR2)',
    range: [-0.6, 0.9],
    colormap: 'burn_r',
    reference: 'Lopez Garcia and Caselles 1991',
  },
  {
    id: 'nbr2',
    name: 'Normalized Burn Ratio 2',
    expression: '(SWIR1 - SWIR2) / (SWIR1 + SWIR2)',
    range: [-0.3, 0.5],
    colormap: 'burn_r',
    reference: 'Lutes et al. 2006',
  },
  {
    id: 'bai',
    name: 'Burned Area Index',
    expression: '1 / ((0.1 - RED) ** 2 + (0.06 - NIR) ** 2)',
    range: [0, 300],
    colormap: 'burn',
    reference: 'Chuvieco et al. 2002',
    reflectance: true,
  },
  {
    id: 'bais2',
    name: 'Burned Area Index for Sentinel-2',
    expression: '(1 - sqrt(REDEDGE2 * REDEDGE3 * NIR08 / RED)) * ((SWIR2 - NIR08) / sqrt(SWIR2 + NIR08) + 1)',
    range: [0, 1.5],
    colormap: 'burn',
    reference: 'Filipponi 2018',
    reflectance: true,
  },
  {
    id: 'mirbi',
    name: 'Mid-Infrared Burn Index',
    expression: '10 * SWIR2 - 9.8 * SWIR1 + 2',
    range: [0.5, 3],
    colormap: 'burn',
    reference: 'Trigg and Flasse 2001',
    reflectance: true,
  },
  { id: 'csi', name: 'Char Soil Index', expression: 'NIR / SWIR2', range: [0, 4], colormap: 'burn_r', reference: 'Smith et al. 2007' },
  {
    id: 'nbrplus',
    name: 'Normalized Burn Ratio Plus',
    expression: '(SWIR2 - NIR08 - GREEN - BLUE) / (SWIR2 + NIR08 + GREEN + BLUE)',
    range: [-1, 0.4],
    colormap: 'burn',
    reference: 'Alcaras et al. 2022',
  },
]
