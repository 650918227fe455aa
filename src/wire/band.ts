import Type from 'typebox'
import { Closed, Described, Nullable } from '#core/shapes.ts'

/** A band of a catalogue collection. */
export const NamedBand = Closed(
  {
    name: Type.String({ description: 'Band name' }),
    role: Described(Nullable(Type.String()), 'Band role used in formulas, such as `RED`; null if it has none'),
  },
  { $id: 'NamedBand', description: 'A band of a collection' },
)
