/** Converts responses of operations to content for a model: text, structured data and images. */
import type { Reply } from '#pipeline/reply.ts'

type Content = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string }

export interface ToolResult {
  content: Content[]
  structuredContent?: Record<string, unknown>
  isError?: boolean
  [member: string]: unknown
}

/** A model cannot use more text than this. */
const MAX_TEXT_BYTES = 256 * 1024
const MAX_IMAGE_BYTES = 4 * 1024 * 1024

const textResult = (text: string): ToolResult => ({ content: [{ type: 'text', text }] })
export const refused = (text: string): ToolResult => ({ ...textResult(text), isError: true })

export async function resultOf({ status, headers, body }: Pick<Reply, 'status' | 'headers' | 'body'>): Promise<ToolResult> {
  const type = (headers['Content-Type'] ?? headers['content-type'] ?? '').split(';')[0]!
  const isImage = type.startsWith('image/')
  const bytes = await collect(body, isImage ? MAX_IMAGE_BYTES : MAX_TEXT_BYTES)
  if (bytes === null) return refused(`The response is too long. Request less: use a smaller limit, area or size.`)
  if (isImage && status === 200) return { content: [{ type: 'image', data: bytes.toString('base64'), mimeType: type }] }
  const text = bytes.toString()
  if (status >= 400) return { ...refused(text), structuredContent: JSON.parse(text) as Record<string, unknown> }
  if (type !== 'application/json' && !type.endsWith('+json')) return textResult(text)
  const value: unknown = JSON.parse(text)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return { ...textResult(text), ...(isObject ? { structuredContent: value as Record<string, unknown> } : {}) }
}

/** The whole body, or null if it is longer. */
async function collect(body: Reply['body'], maxBytes: number): Promise<Buffer | null> {
  if (body instanceof Uint8Array) return body.length > maxBytes ? null : Buffer.from(body)
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body) {
    length += part.length
    if (length > maxBytes) return null
    parts.push(part)
  }
  return Buffer.concat(parts)
}
