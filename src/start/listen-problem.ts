import { ConfigError } from '#core/settings.ts'
import { runningOn } from './running.ts'

/** Lower ports need a permission. */
const FIRST_FREE_PORT = 1024

interface Attempt {
  setting: string
  host: string
  port: number
  dataDir: string
}

/** One line for a port that cannot be used, with what to do about it; any other error unchanged. */
export function listenProblem(error: unknown, { setting, host, port, dataDir }: Attempt): unknown {
  const { code } = error as NodeJS.ErrnoException
  const running = code === 'EADDRINUSE' ? runningOn(dataDir, port) : null
  if (running)
    return new ConfigError(
      `Groundtrack is already running with DATA_DIR ${dataDir}: process ${running.pid} at ${running.url}. ` +
        `Use that one, or stop it first (Ctrl-C where it runs, or kill ${running.pid}).`,
    )
  if (code === 'EADDRINUSE')
    return new ConfigError(
      `Port ${port} of ${host} is in use, perhaps by another Groundtrack. Stop that one, or set ${setting} to a free port.`,
    )
  if (code === 'EACCES' && port < FIRST_FREE_PORT)
    return new ConfigError(
      `This user is not allowed to listen on port ${port}: ports below ${FIRST_FREE_PORT} need a permission. ` +
        `Set ${setting} to a port from ${FIRST_FREE_PORT} to 65535 and put a proxy in front, or grant the permission.`,
    )
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new ConfigError(`${host} is not an address of this machine. Set HOST to one of its addresses, for example 127.0.0.1 or 0.0.0.0.`)
  return error
}
