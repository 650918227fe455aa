/** What a catalogue states about a file and its scene that stays true for a copy of its pixels. */
type Json = Readonly<Record<string, unknown>>

/** Statements about the bands, but not those about the file and its grid; null if there are none. */
export function bandFields(fields: Json): Json | null {
  const kept = Object.entries(fields).filter(([name]) => !/^(proj|file|alternate|storage):?/.test(name))
  return kept.length > 0 ? Object.fromEntries(kept) : null
}

/** Properties of an item that decide how the samples of its bands are scaled. */
const SCALING = ['constellation', 'platform', 's2:processing_baseline', 'earthsearch:boa_offset_applied']

export const scalingProperties = (properties: Json): Json =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => SCALING.includes(name)))
