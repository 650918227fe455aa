/** What a field of JSON stands for while it is being typed. */

/** Undefined for an empty text, which is no value. A text that is no JSON stands for itself, and the schema refuses it. */
export function jsonValue(text: string): unknown {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Whether the text is empty, or an object or a list. */
export function isJsonText(text: string): boolean {
  const value = jsonValue(text)
  return value === undefined || (typeof value === 'object' && value !== null)
}

export const jsonText = (value: unknown) => (value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value))
