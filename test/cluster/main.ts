/** What runs in the namespaces of a cluster: `node test/cluster/main.ts campaign|rolling|serve <settings>`, by way of `enter.ts`. */
import fs from 'node:fs'
import path from 'node:path'
import { campaign } from './campaign.ts'
import { startCluster, type Cluster } from './cluster.ts'
import { rolling } from './rolling.ts'

type Say = (line: string) => void

/** Until somebody ends it. */
async function serve(cluster: Cluster, _settings: object, say: Say): Promise<never> {
  say(`${cluster.entrances.standard.join(' and ')} (defaults), ${cluster.entrances.tuned.join(' and ')} (as the guide recommends)`)
  say(`to enter: nsenter --target ${process.pid} --net --mount; Ctrl-C ends it`)
  return await new Promise(() => setInterval(() => {}, 60_000))
}

// oxlint-disable-next-line typescript/no-explicit-any
const COMMANDS = { campaign, rolling, serve } as Record<string, (cluster: Cluster, settings: any, say: Say) => Promise<unknown>>

const [command = '', text = '{}'] = process.argv.slice(2)
const settings = JSON.parse(text)
const say: Say = (line) => void process.stdout.write(`${line}\n`)

const began = performance.now()
const cluster = await startCluster(settings.dir, settings.from ?? undefined)
say(`a cluster of 3 API processes and 3 workers is ready after ${((performance.now() - began) / 1000).toFixed(0)} s`)
const result = await COMMANDS[command]!(cluster, settings, say)
fs.writeFileSync(path.join(settings.dir, 'result.json'), JSON.stringify(result))
process.exit(0) // What is left ends with the namespaces.
