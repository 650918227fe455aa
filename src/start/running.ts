/** One small file per process that uses a data folder, so that a second start can name the service that is already running. */
import fs from 'node:fs'
import path from 'node:path'
import { isAlive } from '#db/embedded-files.ts'
import { inFolder, readText, writeText } from '#db/no-follow.ts'

interface Running {
  pid: number
  url: string
  /** The ports that it listens on. */
  ports: readonly number[]
}

const folderOf = (dataDir: string): string => path.join(dataDir, 'running')

/** Writes the file of this process; the returned function removes it. */
export function declareRunning(dataDir: string, { url, ports }: Omit<Running, 'pid'>): () => void {
  const folder = folderOf(dataDir)
  const name = String(process.pid)
  fs.mkdirSync(folder, { recursive: true })
  inFolder(folder, ({ at }) => {
    for (const other of fs.readdirSync(at('.'))) if (!isAlive(Number(other))) fs.rmSync(at(other), { force: true })
    writeText(at(name), JSON.stringify({ url, ports }))
  })
  return () => inFolder(folder, ({ at }) => fs.rmSync(at(name), { force: true }))
}

/** The other process with this folder that listens on the port, if there is one. */
export function runningOn(dataDir: string, port: number): Running | null {
  try {
    return inFolder(folderOf(dataDir), ({ at }) => {
      const others = fs.readdirSync(at('.')).map(Number)
      const running = others.filter((pid) => pid !== process.pid && isAlive(pid)).map((pid) => ({ pid, ...read(at(String(pid))) }))
      return running.find(({ ports }) => ports.includes(port)) ?? null
    })
  } catch {
    return null // The folder does not exist yet, or cannot be read.
  }
}

const read = (file: string): Omit<Running, 'pid'> => JSON.parse(readText(file)) as Omit<Running, 'pid'>
