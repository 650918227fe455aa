import type { FormulaSource } from './source.ts'

/** Snow and ice. */
export const SNOW: readonly FormulaSource[] = [
  {
    id: 'ndsi',
    name: 'Normalized Difference Snow Index',
    expression: '(GREEN - SWIR1) / (GREEN + SWIR1)',
    range: [-0.4, 1],
    colormap: 'bone',
    reference: 'Riggs et al. 1994',
  },
  {
    id: 'ndsii',
    name: 'Normalized Difference Snow Ice Index',
    expression: '(GREEN - NIR) / (GREEN + NIR)',
    range: [-0.6, 0.8],
    colormap: 'bone',
    reference: 'Xiao et al. 2001',
  },
  {
    id: 's3',
    name: 'S3 Snow Index',
    expression: 'NIR * (RED - SWIR1) / ((NIR + RED) * (NIR + SWIR1))',
    range: [-0.2, 0.5],
    colormap: 'bone',
    reference: 'Saito and Yamazaki 1999',
  },
  {
    id: 'swi',
    name: 'Snow Water Index',
    expression: 'GREEN * (NIR - SWIR1) / ((GREEN + NIR) * (NIR + SWIR1))',
    range: [-0.1, 0.5],
    colormap: 'bone',
    reference: 'Dixit et al. 2019',
  },
  {
    id: 'ndglai',
    name: 'Normalized Difference Glacier Index',
    expression: '(GREEN - RED) / (GREEN + RED)',
    range: [-0.2, 0.4],
    colormap: 'bone',
    reference: 'Keshri et al. 2009',
  },
]
