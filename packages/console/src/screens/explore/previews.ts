/** Scenes whose previews are on the map at the same time, as the address says. */
import type { Scene } from '../../state/scene.ts'

/** Each is a texture of the map; more would make it slow, and nobody can tell more apart. */
export const MAX_PREVIEWS = 12

/** A scene of a catalogue with tiles, or with an image of its vendor. */
export const canPreview = (scene: Scene): boolean =>
  scene.kind === 'catalog' && scene.geometry !== null && (scene.tiles !== null || scene.quicklook !== null || scene.thumbnail !== null)

const SEPARATOR = ' '

export const previewsFromUrl = (text: string | undefined): string[] =>
  text ? text.split(SEPARATOR).filter(Boolean).slice(-MAX_PREVIEWS) : []

export const previewsInUrl = (keys: readonly string[]): string | null => keys.join(SEPARATOR) || null

/** The newest is last; beyond the maximum, the oldest is taken away. */
export const withPreviews = (shown: readonly string[], keys: readonly string[]): string[] =>
  [...shown.filter((key) => !keys.includes(key)), ...keys].slice(-MAX_PREVIEWS)

export const withoutPreview = (shown: readonly string[], key: string): string[] => shown.filter((other) => other !== key)
