/** Tiles of samples, for layers that apply their style here. They are requests of a map, and no operations. */
import { currentToken } from './session.ts'

export async function loadDataTile(url: string, signal: AbortSignal): Promise<ArrayBuffer> {
  const token = currentToken()
  const response = await fetch(url, { signal, headers: token ? { Authorization: `Bearer ${token}` } : {} })
  if (!response.ok) throw new Error(`HTTP ${response.status}`)
  return await response.arrayBuffer()
}
