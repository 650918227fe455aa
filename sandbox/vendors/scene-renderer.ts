/** Renders scenes in a child process that starts on demand and ends when it is idle. */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { LoadingCache } from '#raster/cache.ts'
import { RasterPool } from '#raster/pool/pool.ts'
import type { SceneDescription } from '../scenes/index.ts'
import type { CogBlock } from './virtual-cog.ts'

const MIB = 1024 * 1024
const BLOCK_CACHE_BYTES = 24 * MIB
const PICTURE_CACHE_BYTES = 8 * MIB
const PICTURE_DEADLINE_MS = 60_000
const BLOCK_DEADLINE_MS = 20_000
/** On a busy machine it is the client that gives up, not the simulation. */
const DEADLINE_FACTOR = 20
/** A file of the largest order takes minutes. */
const FILE_DEADLINE_MS = 30 * 60_000
const IDLE_MS = 20_000
/** A map tile needs a dozen blocks of a few hundred milliseconds each. */
const QUICK_CHILDREN = Math.min(2, os.availableParallelism())
/** Files kept for another download; those of an order that is being delivered are always kept. */
const MAX_FILES = 40
const FRESH_MS = 30 * 60_000

/** Changes when scenes with the same id get other pixels. */
const EDITION = 1

export interface SceneRenderer {
  picture(scene: SceneDescription, sidePx: number, signal?: AbortSignal): Promise<Uint8Array>
  block(scene: SceneDescription, block: CogBlock, signal?: AbortSignal): Promise<Uint8Array>
  /** The scene as a local file. */
  file(scene: SceneDescription): Promise<{ path: string; byteLength: number }>
  /** The same if it exists; null, and rendering starts, if not. */
  fileSoon(scene: SceneDescription): Promise<{ path: string; byteLength: number } | null>
  close(): Promise<void>
}

export function openSceneRenderer(folder: string): SceneRenderer {
  const module = new URL('./scene-renderer.handlers.ts', import.meta.url)
  // Small images do not wait behind a file that takes minutes: they have their own child processes, of which mostly none runs.
  // They keep their priority, because someone is looking at a map.
  const quick = new RasterPool({ module, size: QUICK_CHILDREN, idleMs: IDLE_MS, deadlineFactor: DEADLINE_FACTOR })
  const slow = new RasterPool({ module, size: 1, idleMs: IDLE_MS, deadlineFactor: DEADLINE_FACTOR, niceness: 10 })
  const blocks = new LoadingCache<Uint8Array>({ maxBytes: BLOCK_CACHE_BYTES, sizeOf: (bytes) => bytes.byteLength })
  const pictures = new LoadingCache<Uint8Array>({ maxBytes: PICTURE_CACHE_BYTES, sizeOf: (bytes) => bytes.byteLength })
  const making = new Map<string, Promise<{ path: string; byteLength: number }>>()

  const pathOf = (scene: SceneDescription): string => {
    const name = createHash('sha256')
      .update(JSON.stringify([EDITION, scene]))
      .digest('hex')
      .slice(0, 32)
    return path.join(folder, `${name}.tif`)
  }
  const existing = async (file: string): Promise<{ path: string; byteLength: number } | null> => {
    const stats = await stat(file).catch(() => null)
    if (!stats) return null
    const now = new Date()
    await utimes(file, now, now).catch(() => {}) // The files that were used last are kept longest.
    return { path: file, byteLength: stats.size }
  }
  const make = async (scene: SceneDescription, file: string) => {
    await mkdir(folder, { recursive: true })
    const part = `${file}.${randomUUID()}.part`
    try {
      const { byteLength } = (await slow.run('file', { scene, path: part }, { deadlineMs: FILE_DEADLINE_MS })) as { byteLength: number }
      await rename(part, file)
      await removeOldest(folder)
      return { path: file, byteLength }
    } finally {
      await rm(part, { force: true })
    }
  }
  const started = (scene: SceneDescription, file: string) => {
    const known = making.get(file)
    if (known) return known
    const promise = make(scene, file).finally(() => making.delete(file))
    making.set(file, promise)
    return promise
  }

  return {
    picture: (scene, sidePx, signal) =>
      pictures.get(
        `${scene.id}/${sidePx}`,
        (inner) => quick.run('picture', { scene, sidePx }, { signal: inner, deadlineMs: PICTURE_DEADLINE_MS }) as Promise<Uint8Array>,
        { signal },
      ),
    block: (scene, block, signal) =>
      blocks.get(
        `${scene.id}/${block.factor}/${block.x}/${block.y}`,
        (inner) => quick.run('block', { scene, block }, { signal: inner, deadlineMs: BLOCK_DEADLINE_MS }) as Promise<Uint8Array>,
        { signal },
      ),
    async file(scene) {
      const file = pathOf(scene)
      return (await existing(file)) ?? (await started(scene, file))
    },
    async fileSoon(scene) {
      const file = pathOf(scene)
      const ready = await existing(file)
      if (!ready) started(scene, file).catch(() => {}) // The next request tries again.
      return ready
    },
    async close() {
      await Promise.all([quick.close(), slow.close()])
      await Promise.allSettled(making.values())
    },
  }
}

async function removeOldest(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.tif'))
  if (names.length <= MAX_FILES) return
  const files = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(path.join(folder, name)).catch(() => null))?.mtimeMs ?? 0 })),
  )
  const fresh = Date.now() - FRESH_MS
  for (const { name, at } of files.toSorted((a, b) => a.at - b.at).slice(0, names.length - MAX_FILES))
    if (at < fresh) await rm(path.join(folder, name), { force: true })
}
