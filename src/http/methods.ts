/** Which methods an address takes: for `Allow`, and to tell a wrong method from a wrong address. */
import type { FastifyInstance } from 'fastify'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Method = (typeof METHODS)[number]

export type MethodsOf = (path: string) => readonly Method[]

interface Route {
  pattern: RegExp
  /** Of several routes that fit, the one with the fewest open parts is meant. */
  openness: number
  methods: Set<string>
}

/** One open to any text is worse than any number of single segments. */
const WILDCARD_OPENNESS = 100

/** Takes note of every route that is added from now on. Routes of every method answer POST alone: they say so themselves. */
export function watchRoutes(app: FastifyInstance): MethodsOf {
  const routes = new Map<string, Route>()
  app.addHook('onRoute', ({ url, method }) => {
    const named = [method].flat()
    const route = routes.get(url) ?? { ...shapeOf(url), methods: new Set() }
    routes.set(url, route)
    for (const each of named.length > METHODS.length ? ['POST'] : named) route.methods.add(each)
  })
  return (path) => {
    const fitting = [...routes.values()].filter(({ pattern }) => pattern.test(path))
    const [best] = fitting.toSorted((a, b) => a.openness - b.openness)
    return METHODS.filter((method) => best?.methods.has(method))
  }
}

function shapeOf(url: string): Pick<Route, 'pattern' | 'openness'> {
  const parts = url.split(/(:\w+|\*)/)
  const source = parts
    .map((part) => (part === '*' ? '.*' : part.startsWith(':') ? '[^/]+' : part.replaceAll(/[^\w/-]/g, String.raw`\$&`)))
    .join('')
  const openness = parts.reduce((sum, part) => sum + (part === '*' ? WILDCARD_OPENNESS : part.startsWith(':') ? 1 : 0), 0)
  return { pattern: new RegExp(`^${source}$`), openness }
}

/** Without its query, where `key=` may stand in more spellings than a pattern can know. */
export function pathOf(url: string): string {
  return url.split('?', 1)[0]!
}
