/** Sends webhook requests to customers' endpoints. */
interface WebhookResponse {
  /** Null if there was no response. The reason is not given, or a subscription could be used as a port scanner. */
  status: number | null
  retryAfter: string | null
  /** The beginning of the response body, as text. */
  start: string
}

export interface Webhooks {
  /** Seconds before each retry. */
  readonly backoffSeconds: readonly number[]
  /** Total time for one attempt. */
  readonly timeoutMs: number
  /** Why a URL cannot be an endpoint; null if it can. */
  rejectionReason(url: string): Promise<string | null>
  post(url: string, headers: Readonly<Record<string, string>>, body: string, signal?: AbortSignal): Promise<WebhookResponse>
  close(): Promise<void>
}
