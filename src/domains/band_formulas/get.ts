import { Closed } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import * as bandFormulas from '#model/imagery/band-formula.ts'
import { operation } from '#operation.ts'
import { findFormula } from '#raster/formulas/index.ts'
import { EXAMPLE_FORMULA, FormulaId, FormulaRecord, toRecord, toTemplate } from './wire.ts'

/** One formula: a built-in one by its name, or one saved by the organization. */
export default operation({
  id: 'band_formulas.get',
  scope: 'band_formulas:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ formula_id: FormulaId }),
  output: FormulaRecord,
  example: { input: { formula_id: EXAMPLE_FORMULA.id }, output: EXAMPLE_FORMULA },
}).handle({
  async execute({ db, principal }, { formula_id }) {
    const template = findFormula(formula_id)
    if (template) return toTemplate(template)
    return toRecord(await bandFormulas.requireOf(db, organizations.requireOrganization(principal), formula_id))
  },
})
