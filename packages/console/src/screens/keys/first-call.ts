/** A first call with a key, to copy: for a shell, a program, or QGIS. */

export type Caller = 'curl' | 'js' | 'python' | 'qgis'

/** Where programs find the key if it is not in the text itself: the variable that the clients and the command line read. */
const VARIABLE = 'GROUNDTRACK_API_KEY'

/** Without a key, the text takes it from the environment; with one, it can be pasted and run as it is. */
export function firstCall(caller: Caller, base: string, key: string | null = null): string {
  if (caller === 'curl') return curl(base, key ?? `$${VARIABLE}`)
  if (caller === 'js') return javascript(base, key === null ? `process.env.${VARIABLE}` : `'${key}'`)
  if (caller === 'python') return python(base, key)
  return `Layer → Add layer → Add WMS/WMTS layer → New\nURL: ${base}/wmts/ITEM_ID/1.0.0/WMTSCapabilities.xml?key=${key ?? 'svc_…'}`
}

const curl = (base: string, key: string) => `# your projects
curl -s ${base}/v1/op/projects.list \\
  -H "Authorization: Bearer ${key}" \\
  -H 'Content-Type: application/json' \\
  -d '{}'`

const javascript = (base: string, key: string) => `import { Groundtrack } from '@groundtrack/client'

const gt = new Groundtrack({
  baseUrl: '${base}',
  apiKey: ${key},
})
const { projects } = await gt.projects.list({})
console.log(projects.map(({ name }) => name))`

const python = (base: string, key: string | null) => `${key === null ? 'import os\n' : ''}from groundtrack import Groundtrack

gt = Groundtrack("${base}", api_key=${key === null ? `os.environ["${VARIABLE}"]` : `"${key}"`})
for project in gt.projects.list():
    print(project.name)`
