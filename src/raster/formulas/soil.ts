import type { FormulaSource } from './source.ts'

/** Bare ground and tillage. */
export const SOIL: readonly FormulaSource[] = [
  {
    id: 'bsi',
    name: 'Bare Soil Index',
    expression: '((SWIR1 + RED) - (NIR + BLUE)) / ((SWIR1 + RED) + (NIR + BLUE))',
    range: [-0.6, 0.6],
    colormap: 'brbg_r',
    reference: 'Rikimaru et al. 2002',
  },
  {
    id: 'dbsi',
    name: 'Dry Bareness Index',
    expression: '(SWIR1 - GREEN) / (SWIR1 + GREEN) - (NIR - RED) / (NIR + RED)',
    range: [-1, 1],
    colormap: 'brbg_r',
    reference: 'Rasul et al. 2018',
  },
  {
    id: 'mbi',
    name: 'Modified Bare Soil Index',
    expression: '(SWIR1 - SWIR2 - NIR) / (SWIR1 + SWIR2 + NIR) + 0.5',
    range: [-0.2, 0.6],
    colormap: 'brbg_r',
    reference: 'Nguyen et al. 2021',
  },
  {
    id: 'ndsoi',
    name: 'Normalized Difference Soil Index',
    expression: '(SWIR2 - GREEN) / (SWIR2 + GREEN)',
    range: [-0.6, 0.8],
    colormap: 'brbg_r',
    reference: 'Deng et al. 2015',
  },
  {
    id: 'ndtilli',
    name: 'Normalized Difference Tillage Index',
    expression: '(SWIR1 - SWIR2) / (SWIR1 + SWIR2)',
    range: [-0.1, 0.5],
    colormap: 'ylorbr',
    reference: 'Van Deventer et al. 1997',
  },
  {
    id: 'nsdsi1',
    name: 'Shortwave-Infrared Soil Moisture Index',
    expression: '(SWIR1 - SWIR2) / SWIR1',
    range: [-0.2, 0.6],
    colormap: 'moisture',
    reference: 'Yue et al. 2019',
  },
]
