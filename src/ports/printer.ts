/** Renders PDFs off the event loop. `services/documents` defines the contents of each kind. */
export interface Printer {
  /** Rotates between organizations. 400 if the document takes too long or too much memory. */
  print(organizationId: string, kind: 'report' | 'invoice', document: object): Promise<Buffer>
  close(): Promise<void>
}
