/** Makes PDFs beside the event loop. What a document of a kind holds is known to `services/documents`. */
export interface Printer {
  /** In turn with other organizations. 400 for a document that takes too long or too much memory. */
  print(organizationId: string, kind: 'report' | 'invoice', document: object): Promise<Buffer>
  close(): Promise<void>
}
