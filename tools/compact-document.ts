/** docs/openapi.json: one line for each path and each component, so that it stays small and a change shows where it is. */

type Json = Record<string, unknown>

export function compactDocument(document: object): string {
  const { paths, components, ...rest } = document as { paths: Json; components: Record<string, Json> }
  const head = Object.entries(rest).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
  const kinds = Object.entries(components).map(([kind, members]) => `${JSON.stringify(kind)}:${lines(members)}`)
  return `{\n${[...head, `"paths":${lines(paths)}`, `"components":{\n${kinds.join(',\n')}\n}`].join(',\n')}\n}\n`
}

const lines = (members: Json): string =>
  `{\n${Object.entries(members)
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
    .join(',\n')}\n}`
