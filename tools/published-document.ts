import { openApiDocument } from '#http/openapi.ts'
import { operations } from '#registry.ts'

export function publishedDocument(): object {
  return openApiDocument(operations, 'http://127.0.0.1:8080')
}
