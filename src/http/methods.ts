/** The methods that a URL supports: for `Allow`, and to tell an unsupported method from an unknown URL. */
import type { FastifyInstance } from 'fastify'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Method = (typeof METHODS)[number]

export type MethodsOf = (path: string) => readonly Method[]

interface Route {
  pattern: RegExp
  /** Of several matching routes, the one with the fewest parameters applies. */
  openness: number
  methods: Set<string>
}

/** A wildcard counts more than any number of parameters. */
const WILDCARD_OPENNESS = 100

/** Records every route that is added from now on. Routes for all methods handle only POST, and reject the others themselves. */
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

/** Without the query, where `key=` can be written in more ways than a pattern can match. */
export function pathOf(url: string): string {
  return url.split('?', 1)[0]!
}
