import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import * as bandFormulas from '#model/imagery/band-formula.ts'
import { operation } from '#operation.ts'
import { requireColormap, requireFormula, requireOwnName, requireRange, requireSaved } from './check.lib.ts'
import {
  Category,
  ColormapName,
  Description,
  DisplayName,
  EXAMPLE_FORMULA,
  FormulaId,
  FormulaName,
  FormulaRecord,
  FormulaText,
  toRecord,
  ValueRange,
} from './wire.ts'

/** Changes a saved formula. Null clears `display_name` and `description`; other fields are unchanged by null, and all by omission. */
export default operation({
  id: 'band_formulas.update',
  scope: 'band_formulas:write',
  tier: 'compute',
  input: Closed({
    formula_id: FormulaId,
    name: Type.Optional(Nullable(FormulaName)),
    formula: Type.Optional(Nullable(FormulaText)),
    display_name: Type.Optional(DisplayName),
    description: Type.Optional(Description),
    colormap: Type.Optional(Nullable(ColormapName)),
    value_range: Type.Optional(Nullable(ValueRange)),
    category: Type.Optional(Nullable(Category)),
  }),
  output: FormulaRecord,
  example: { input: { formula_id: EXAMPLE_FORMULA.id, display_name: EXAMPLE_FORMULA.display_name }, output: EXAMPLE_FORMULA },
}).handle({
  async check({ db, principal }, input) {
    const saved = await bandFormulas.requireOf(db, organizations.requireOrganization(principal), requireSaved(input.formula_id))
    const formula = input.formula ?? saved.formula
    return {
      saved,
      fields: {
        name: input.name == null ? saved.name : requireOwnName(input.name),
        formula,
        requiredBands: requireFormula(formula),
        displayName: input.display_name === undefined ? saved.displayName : input.display_name,
        description: input.description === undefined ? saved.description : input.description,
        colormap: input.colormap == null ? saved.colormap : requireColormap(input.colormap),
        ...requireRange(input.value_range ?? [saved.rangeLow, saved.rangeHigh]),
        category: input.category ?? saved.category,
      },
    }
  },
  async execute({ tx, clock }, _input, { saved, fields }) {
    return toRecord(await bandFormulas.update(tx, saved, fields, clock.now()))
  },
})
