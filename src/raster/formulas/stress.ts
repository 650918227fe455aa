import type { FormulaSource } from './source.ts'

/** Leaf water and drought stress. */
export const STRESS: readonly FormulaSource[] = [
  {
    id: 'dswi1',
    name: 'Disease-Water Stress Index 1',
    expression: 'NIR / SWIR1',
    range: [0, 4],
    colormap: 'ylgnbu',
    reference: 'Apan et al. 2004',
  },
  {
    id: 'dswi2',
    name: 'Disease-Water Stress Index 2',
    expression: 'SWIR1 / GREEN',
    range: [0, 6],
    colormap: 'ylorbr',
    reference: 'Apan et al. 2004',
  },
  {
    id: 'dswi3',
    name: 'Disease-Water Stress Index 3',
    expression: 'SWIR1 / RED',
    range: [0, 8],
    colormap: 'ylorbr',
    reference: 'Apan et al. 2004',
  },
  {
    id: 'dswi4',
    name: 'Disease-Water Stress Index 4',
    expression: 'GREEN / RED',
    range: [0.5, 2.5],
    colormap: 'ylgnbu',
    reference: 'Apan et al. 2004',
  },
  {
    id: 'dswi5',
    name: 'Disease-Water Stress Index 5',
    expression: '(NIR + GREEN) / (SWIR1 + RED)',
    range: [0, 4],
    colormap: 'ylgnbu',
    reference: 'Apan et al. 2004',
  },
  {
    id: 'nddi',
    name: 'Normalized Difference Drought Index',
    expression:
      '((NIR - RED) / (NIR + RED) - (GREEN - NIR) / (GREEN + NIR)) / ((NIR - RED) / (NIR + RED) + (GREEN - ' + 'NIR) / (GREEN + NIR))',
    range: [-5, 25],
    colormap: 'ylorbr',
    reference: 'Gu et al. 2007',
  },
  {
    id: 'snirvlswi',
    name: 'Near-Infrared Reflectance of Moist Vegetation',
    expression: '(NIR - SWIR2) / (NIR + SWIR2) * NIR',
    range: [0, 0.4],
    colormap: 'ylgnbu',
    reference: 'Ranjbar et al. 2024',
    reflectance: true,
  },
  {
    id: 'mi',
    name: 'Mangrove Index',
    expression: '(NIR - SWIR1) / (NIR * SWIR1)',
    range: [-4, 8],
    colormap: 'brbg',
    reference: 'Winarso et al. 2014',
    reflectance: true,
  },
]
