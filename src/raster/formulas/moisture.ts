import type { FormulaSource } from './source.ts'

/** Vegetation moisture and drought. */
export const MOISTURE: readonly FormulaSource[] = [
  {
    id: 'afri1600',
    name: 'Aerosol Free Vegetation Index 1600',
    expression: '(NIR - 0.66 * SWIR1) / (NIR + 0.66 * SWIR1)',
    range: [-0.2, 1],
    colormap: 'ndvi',
    reference: 'Karnieli et al. 2001',
  },
  {
    id: 'ndmi',
    name: 'Normalized Difference Moisture Index',
    expression: '(NIR - SWIR1) / (NIR + SWIR1)',
    range: [-0.6, 0.6],
    colormap: 'moisture',
    reference: 'Gao 1996',
  },
  {
    id: 'msi',
    name: 'Moisture Stress Index',
    expression: 'SWIR1 / NIR',
    range: [0.2, 2],
    colormap: 'moisture_r',
    reference: 'Hunt and Rock 1989',
  },
  {
    id: 'gvmi',
    name: 'Global Vegetation Moisture Index',
    expression: '((NIR + 0.1) - (SWIR2 + 0.02)) / ((NIR + 0.1) + (SWIR2 + 0.02))',
    range: [-0.4, 0.8],
    colormap: 'moisture',
    reference: 'Ceccato et al. 2002',
    reflectance: true,
  },
  {
    id: 'nmdi',
    name: 'Normalized Multi-band Drought Index',
    expression: '(NIR - (SWIR1 - SWIR2)) / (NIR + (SWIR1 - SWIR2))',
    range: [0, 1],
    colormap: 'moisture',
    reference: 'Wang and Qu 2007',
  },
  {
    id: 'slavi',
    name: 'Specific Leaf Area Vegetation Index',
    expression: 'NIR / (RED + SWIR2)',
    range: [0, 4],
    colormap: 'ylgn',
    reference: 'Lymburner et al. 2000',
  },
]
