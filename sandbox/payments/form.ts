/** Request bodies of the processor's protocol: `a[b][c]=d`, as its package encodes them. */
export type Form = { [name: string]: string | Form }

const MAX_DEPTH = 5

export function parseForm(text: string): Form {
  const form = Object.create(null) as Form
  for (const [name, value] of new URLSearchParams(text)) {
    const path = [...name.matchAll(/[^[\]]+/g)].map(([part]) => part).slice(0, MAX_DEPTH)
    const last = path.pop()
    if (last === undefined) continue
    let at = form
    for (const part of path) at = (typeof at[part] === 'object' ? at[part] : (at[part] = Object.create(null) as Form)) as Form
    at[last] = value
  }
  return form
}

export const textOf = (form: Form, name: string): string | null => (typeof form[name] === 'string' ? form[name] : null)

export const objectOf = (form: Form, name: string): Form => (typeof form[name] === 'object' ? form[name] : (Object.create(null) as Form))
