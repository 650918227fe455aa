/** Starts a cluster to look at, until Ctrl-C. */
import { inCluster, noCluster } from './enter.ts'

const problem = noCluster()
if (problem) {
  console.error(problem)
  process.exit(1)
}
await inCluster('serve', {}, (line) => console.log(line))
