/** The client without its operations, for programs that bring only those they use: `new ItemsApi(new Client(…))`. */
export { Client, type CallOptions, type ClientOptions } from './client.ts'
export { download, type Download, type DownloadOptions } from './download.ts'
export { events, type EventsOptions } from './events.ts'
export { Lines } from './lines.ts'
export { Page } from './pages.ts'
export { PriceError, priceOf, type Ask, type Price } from './generated/prices.ts'
export { ConnectionError, isProblem, ProblemError } from './problem.ts'
export { type SessionTokens } from './session.ts'
export {
  upload,
  UploadError,
  type Uploaded,
  type FileToUpload,
  type UploadOptions,
  type UploadProgress,
  type UploadState,
} from './upload.ts'
export { waitFor, type Waitable, type WaitOptions } from './wait.ts'
export { signWebhook, SignatureError, verifyWebhook } from './webhooks.ts'
