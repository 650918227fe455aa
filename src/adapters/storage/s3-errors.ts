import { objectMissing, StorageError } from '#ports/storage.ts'

interface Failure {
  name?: string
  code?: string
  $metadata?: { httpStatusCode?: number }
}

/** Translates errors of the service into those of the port. */
export function explainS3(error: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason
  const { name, code, $metadata } = (error ?? {}) as Failure
  const status = $metadata?.httpStatusCode
  const options = { cause: error }
  if (error instanceof StorageError) return error
  if (name === 'NoSuchBucket') return new StorageError('unavailable', 'The bucket in STORAGE_URL does not exist', options)
  switch (status) {
    case 404:
      return objectMissing(options)
    case 412:
      return new StorageError('changed', 'The object was replaced while it was read', options)
    case 416:
      return new StorageError('invalid-range', 'The range is outside the object', options)
    case 401:
    case 403:
      return new StorageError('unavailable', `The object store rejected our credentials (${name})`, options)
    case undefined:
      return code || name === 'TimeoutError' || name === 'CredentialsProviderError'
        ? new StorageError('unavailable', `Cannot reach the object store (${code ?? name})`, options)
        : error
    default:
      return new StorageError('unavailable', `The object store returned ${status} (${name})`, options)
  }
}
