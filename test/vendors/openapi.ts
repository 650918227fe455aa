/** Compares requests and responses with a vendor's OpenAPI document. */
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import type { Exchange } from '../../sandbox/vendors/skyfi/server.ts'

type Json = Readonly<Record<string, unknown>>
type Media = { schema?: unknown }

/** What in an exchange the document does not allow. */
export function conformanceTo(document: Json): (exchange: Exchange) => string[] {
  const paths = document['paths'] as Record<string, Record<string, Json>>
  const schemas = (document['components'] as { schemas: Json }).schemas
  /** A schema that contains itself accepts anything there. */
  const inlined = (value: unknown, within: readonly string[] = []): unknown => {
    if (Array.isArray(value)) return value.map((member) => inlined(member, within))
    if (value === null || typeof value !== 'object') return value
    const name = (value as { $ref?: string }).$ref?.split('/').at(-1)
    if (name !== undefined) return within.includes(name) ? {} : inlined(schemas[name], [...within, name])
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, inlined(member, within)]))
  }
  const errorsOf = (media: Media | undefined, body: unknown): string[] =>
    Compile(Type.Unsafe<unknown>(inlined(media?.schema ?? {}) as object))
      .Errors(JSON.parse(JSON.stringify(body)))
      .map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
  const mediaOf = (content: unknown): Media | undefined =>
    Object.values((content as { content?: Record<string, Media> } | undefined)?.content ?? {})[0]
  return ({ method, route, query, request, status, response }) => {
    const operation = paths[route]?.[method.toLowerCase()]
    if (!operation) return [`${method} ${route} is not in the document`]
    const parameters = (operation['parameters'] ?? []) as { name: string; in: string }[]
    const unknown = Object.keys(query).filter((name) => !parameters.some((each) => each.in === 'query' && each.name === name))
    const documented = (operation['responses'] as Record<string, unknown>)[String(status)]
    return [
      ...unknown.map((name) => `unknown parameter ${name}`),
      ...(request === null ? [] : status < 400 ? errorsOf(mediaOf(operation['requestBody']), request) : []),
      ...(documented === undefined ? [`status ${status} is not documented`] : errorsOf(mediaOf(documented), response)),
    ].map((error) => `${method} ${route}: ${error}`)
  }
}
