import { Closed, Removed } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import * as bandFormulas from '#model/imagery/band-formula.ts'
import { operation } from '#operation.ts'
import { requireSaved } from './check.lib.ts'
import { EXAMPLE_FORMULA, FormulaId } from './wire.ts'

/** Deletes a saved formula. Visualization profiles that use it keep their expression. */
export default operation({
  id: 'band_formulas.delete',
  scope: 'band_formulas:write',
  tier: 'destructive',
  input: Closed({ formula_id: FormulaId }),
  output: Removed,
  example: { input: { formula_id: EXAMPLE_FORMULA.id }, output: { ok: true, id: EXAMPLE_FORMULA.id } },
}).handle({
  async check({ db, principal }, { formula_id }) {
    return await bandFormulas.requireOf(db, organizations.requireOrganization(principal), requireSaved(formula_id))
  },
  async execute({ tx }, _input, formula) {
    await bandFormulas.remove(tx, formula)
    return { ok: true as const, id: formula.id }
  },
})
