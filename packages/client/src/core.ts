/** The client without its operations, for programs that import only those they use: `new ItemsApi(new Client(…))`. */
export { Client, type Caller, type CallOptions, type ClientOptions } from './client.ts'
export { download, type Download, type DownloadOptions } from './download.ts'
export { events, type EventsOptions } from './events.ts'
export { Lines } from './lines.ts'
export { Page } from './pages.ts'
export { isPriced, PriceError, priceOf, type CallOperation, type Price, type PricedOperation } from './generated/prices.ts'
export { AbortError, ConnectionError, isProblem, MissingFileError, ProblemError } from './problem.ts'
export { type SessionTokens } from './session.ts'
export {
  upload,
  UploadError,
  type Uploaded,
  type FilePosition,
  type FileRanges,
  type FileToUpload,
  type UploadOptions,
  type UploadProgress,
  type UploadState,
  type UploadTarget,
} from './upload.ts'
export { waitFor, WaitTimeoutError, type Waitable, type WaitedFor, type WaitOptions } from './wait.ts'
export { signWebhook, SignatureError, verifyWebhook } from './webhooks.ts'
