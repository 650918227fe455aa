/** A tile as an image, for layers that the console draws itself. Null if it cannot be drawn. */
import { freshToken } from './session.ts'

export async function tileImage(url: string, signal: AbortSignal): Promise<ImageBitmap | null> {
  const token = await freshToken()
  const response = await fetch(url, { headers: token ? { authorization: `Bearer ${token}` } : {}, signal })
  return response.ok ? await createImageBitmap(await response.blob()) : null
}
