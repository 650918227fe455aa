/** Computing time of this process, in milliseconds since the call: what others do on the machine meanwhile does not count. */
export function cpuTimer(): () => number {
  const start = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1_000
  }
}
