/** The bill of materials of the image (CycloneDX): npm's own, with Node and Debian's packages, and without what changes by itself. */
import { createHash } from 'node:crypto'
import { pins, type Architecture } from './debian.ts'

interface Component {
  type: string
  name: string
  version: string
  purl: string
  'bom-ref': string
  hashes?: { alg: string; content: string }[]
}

interface Bill {
  serialNumber: string
  metadata: { timestamp: string; [name: string]: unknown }
  components: Component[]
  dependencies: { ref: string; dependsOn?: string[] }[]
  [name: string]: unknown
}

interface Contents {
  arch: Architecture
  /** The version of Node. */
  node: string
  epoch: number
  /** `name@version` of the npm packages in the image. */
  installed: ReadonlySet<string>
}

export function bill(npmBill: string, { arch, node, epoch, installed }: Contents): string {
  const given = JSON.parse(npmBill) as Bill
  const nodePurl = `pkg:generic/node@${node}?arch=${arch}`
  const system: Component[] = [
    { type: 'platform', name: 'node', version: node, purl: nodePurl, 'bom-ref': nodePurl },
    ...pins()[arch].map(({ name, version, sha256 }) => {
      const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${arch}&distro=debian-12`
      return { type: 'library', name, version, purl, 'bom-ref': purl, hashes: [{ alg: 'SHA-256', content: sha256 }] }
    }),
  ]
  const shipped = given.components.filter(({ name, version }) => installed.has(`${name}@${version}`))
  const components = [...shipped, ...system].toSorted((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1))
  const content: Bill = {
    ...given,
    serialNumber: '',
    metadata: { ...given.metadata, timestamp: new Date(epoch * 1_000).toISOString() },
    components,
    dependencies: connected(given, components),
  }
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  const id = [hash.slice(0, 8), hash.slice(8, 12), `5${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`, hash.slice(20, 32)].join('-')
  return `${JSON.stringify({ ...content, serialNumber: `urn:uuid:${id}` }, null, 2)}\n`
}

/** Without those that were left out. */
function connected({ metadata, dependencies }: Bill, components: readonly Component[]): Bill['dependencies'] {
  const own = (metadata['component'] as Component | undefined)?.['bom-ref']
  const known = new Set([own, ...components.map((component) => component['bom-ref'])])
  return dependencies
    .filter(({ ref }) => known.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => known.has(each)).toSorted() }))
    .toSorted((a, b) => (a.ref < b.ref ? -1 : 1))
}
