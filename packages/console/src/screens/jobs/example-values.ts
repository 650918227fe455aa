import type { Values } from '../../parts/schema-values.ts'

/** The example of the service, over items that exist: chosen ones stay, and others are the newest of the organization. */
export function exampleFor(example: Values, values: Values, items: readonly { id: string; geometry: unknown }[]): Values {
  let next = 0
  const newItem = () => items[next++ % items.length]?.id
  const fitted = Object.entries(example).flatMap(([name, value]) => {
    if (values[name] !== undefined && /item_ids?$/.test(name)) return [[name, values[name]]]
    if (name.endsWith('item_ids')) return items.length === 0 ? [] : [[name, [value].flat().map(newItem)]]
    if (name.endsWith('item_id')) return items.length === 0 ? [] : [[name, newItem()]]
    // The area of the example is elsewhere.
    if (name === 'geometry') return [[name, values[name] ?? items[0]?.geometry ?? value]]
    return [[name, value]]
  })
  return Object.fromEntries(fitted) as Values
}
