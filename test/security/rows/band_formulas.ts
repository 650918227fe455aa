import type { Org, World } from '../../support/world.ts'
import { other } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { ANYBODY, NOBODY } from '../statuses.ts'

const formula = async (w: World, org: Org) => {
  const { id } = await w.ok(org.owner.token, 'band_formulas.create', { name: `f${Math.random()}`, formula: 'NIR - RED' })
  return { formula_id: id as string }
}
const otherFormula = other('formula_id')

/** What the organization saved: every member's to change. */
const CHANGES = {
  a: `${NOBODY} | 200 200 200 200 | 404 403 | 403 200 403 | 403 403 200 403`,
  b: `${NOBODY} | 404 404 404 404 | 200 403 | 403 404 403 | 403 403 404 403`,
}

export const rows: Rows = {
  'band_formulas.create': {
    a: `${NOBODY} | 200 200 200 200 | 200 403 | 403 200 403 | 403 403 200 403`,
    input: () => ({ name: `f${Math.random()}`, formula: '(NIR - RED) / (NIR + RED)' }),
    breaks: 'table band_formula',
  },
  'band_formulas.delete': { ...CHANGES, input: formula, missing: otherFormula, breaks: 'table band_formula' },
  'band_formulas.get': {
    a: `${NOBODY} | 200 200 200 200 | 404 403 | 200 200 200 | 403 403 200 403`,
    b: `${NOBODY} | 404 404 404 404 | 200 403 | 404 404 404 | 403 403 404 403`,
    input: formula,
    missing: otherFormula,
    breaks: 'table band_formula',
  },
  'band_formulas.list': { ...ANYBODY, input: () => ({}), breaks: 'table band_formula' },
  'band_formulas.update': {
    ...CHANGES,
    input: async (w, org) => ({ ...(await formula(w, org)), category: 'fields' }),
    missing: otherFormula,
    breaks: 'table band_formula',
  },
}
