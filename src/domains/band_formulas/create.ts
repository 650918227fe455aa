import Type from 'typebox'
import { Closed, Defaulted } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import * as bandFormulas from '#model/imagery/band-formula.ts'
import { operation } from '#operation.ts'
import { requireColormap, requireFormula, requireOwnName, requireRange } from './check.lib.ts'
import {
  Category,
  ColormapName,
  Description,
  DisplayName,
  EXAMPLE_FORMULA,
  FormulaName,
  FormulaRecord,
  FormulaText,
  toRecord,
  ValueRange,
} from './wire.ts'

/** Saves a band formula under a name that is unique in the organization, after validating it. */
export default operation({
  id: 'band_formulas.create',
  scope: 'band_formulas:write',
  tier: 'compute',
  input: Closed({
    name: FormulaName,
    formula: FormulaText,
    display_name: Type.Optional(DisplayName),
    description: Type.Optional(Description),
    colormap: Defaulted(ColormapName, 'RdYlGn'),
    value_range: Defaulted(ValueRange, [-1, 1]),
    category: Defaulted(Category, 'custom'),
  }),
  output: FormulaRecord,
  example: {
    input: {
      name: EXAMPLE_FORMULA.name,
      formula: EXAMPLE_FORMULA.formula,
      display_name: EXAMPLE_FORMULA.display_name,
      description: EXAMPLE_FORMULA.description,
      value_range: EXAMPLE_FORMULA.value_range,
    },
    output: EXAMPLE_FORMULA,
  },
}).handle({
  async check({ principal }, input) {
    return {
      organizationId: organizations.requireOrganization(principal),
      fields: {
        name: requireOwnName(input.name),
        formula: input.formula,
        requiredBands: requireFormula(input.formula),
        displayName: input.display_name ?? null,
        description: input.description ?? null,
        colormap: requireColormap(input.colormap),
        ...requireRange(input.value_range),
        category: input.category,
      },
    }
  },
  async execute({ tx, principal, clock }, _input, { organizationId, fields }) {
    return toRecord(await bandFormulas.insert(tx, { organizationId, createdBy: principal.userId, now: clock.now() }, fields))
  },
})
