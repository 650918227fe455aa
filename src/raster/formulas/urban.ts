import type { FormulaSource } from './source.ts'

/** Built-up land. */
export const URBAN: readonly FormulaSource[] = [
  {
    id: 'ndbi',
    name: 'Normalized Difference Built-Up Index',
    expression: '(SWIR1 - NIR) / (SWIR1 + NIR)',
    range: [-0.6, 0.6],
    colormap: 'rdgy_r',
    reference: 'Zha et al. 2003',
  },
  {
    id: 'ui',
    name: 'Urban Index',
    expression: '(SWIR2 - NIR) / (SWIR2 + NIR)',
    range: [-0.8, 0.4],
    colormap: 'rdgy_r',
    reference: 'Kawamura et al. 1996',
  },
  {
    id: 'ibi',
    name: 'Index-Based Built-Up Index',
    expression:
      '((SWIR1 - NIR) / (SWIR1 + NIR) - ((NIR - RED) * 1.5 / (NIR + RED + 0.5) + (GREEN - SWIR1) / (GREEN + SWIR1)) / ' +
      '2) / ((SWIR1 - NIR) / (SWIR1 + NIR) + ((NIR - RED) * 1.5 / (NIR + RED + 0.5) + (GREEN - SWIR1) / (GREEN + ' +
      'SWIR1)) / 2)',
    range: [-1, 1],
    colormap: 'rdgy_r',
    reference: 'Xu 2008',
    reflectance: true,
  },
  {
    id: 'blfei',
    name: 'Built-Up Land Features Extraction Index',
    expression: '((GREEN + RED + SWIR2) / 3 - SWIR1) / ((GREEN + RED + SWIR2) / 3 + SWIR1)',
    range: [-0.6, 0.4],
    colormap: 'rdgy_r',
    reference: 'Bouhennache et al. 2019',
  },
  {
    id: 'pisi',
    name: 'Perpendicular Impervious Surface Index',
    expression: '0.8192 * BLUE - 0.5735 * NIR + 0.075',
    range: [-0.2, 0.2],
    colormap: 'rdgy_r',
    reference: 'Tian et al. 2018',
    reflectance: true,
  },
  {
    id: 'brba',
    name: 'Band Ratio for Built-Up Area',
    expression: 'RED / SWIR1',
    range: [0, 1.5],
    colormap: 'greys',
    reference: 'Waqar et al. 2012',
  },
]
