import { ELSEWHERE } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { ANYBODY, ANY_URL } from '../statuses.ts'

const TRIANGLE = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 0],
    ],
  ],
}

export const rows: Rows = {
  'cog.colormaps': { ...ANYBODY, input: () => ({}), breaks: null },
  'cog.formulas': { ...ANYBODY, input: () => ({}), breaks: null },
  'cog.statistics': { ...ANY_URL, input: () => ({ url: ELSEWHERE, geometry: TRIANGLE }), breaks: null },
  'cog.thumbnail': { ...ANY_URL, input: () => ({ url: ELSEWHERE }), breaks: null },
  'cog.tile.render': { ...ANY_URL, input: () => ({ url: ELSEWHERE, z: 0, x: 0, y: 0, format: 'png' }), breaks: null },
  'cog.tile.terrain': { ...ANY_URL, input: () => ({ url: ELSEWHERE, z: 0, x: 0, y: 0 }), breaks: null },
}
