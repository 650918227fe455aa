/** Random expressions over some bands, in the grammar of the service. */
import fc from 'fast-check'
import { BINARY } from '#raster/expression/operators.ts'

export const expressions = (bands: readonly string[], constants: readonly string[] = ['0', '1', '2', '0.5', '3', '0.3', '10']) =>
  fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom(...bands, ...bands, ...constants),
      fc.tuple(tie('node'), fc.constantFrom(...BINARY), tie('node')).map(([a, operator, b]) => `(${a} ${operator} ${b})`),
      tie('node').map((a) => `(-${a})`),
      fc.tuple(fc.constantFrom('abs', 'sqrt', 'log', 'log10', 'exp'), tie('node')).map(([name, a]) => `${name}(${a})`),
      fc
        .tuple(fc.constantFrom('min', 'max'), fc.array(tie('node'), { minLength: 2, maxLength: 3 }))
        .map(([name, list]) => `${name}(${list.join()})`),
      fc.tuple(fc.constantFrom('where', 'clip'), tie('node'), tie('node'), tie('node')).map(([name, a, b, c]) => `${name}(${a},${b},${c})`),
    ),
  })).node
