/** Entry point of the thread that renders PDFs. `printer.ts` starts it; nothing imports it. */
import { parentPort } from 'node:worker_threads'
import { invoicePdf } from './invoice-pdf.ts'
import { reportPdf } from './report-pdf.ts'

type PrintRequest =
  | { kind: 'report'; document: Parameters<typeof reportPdf>[0] }
  | { kind: 'invoice'; document: Parameters<typeof invoicePdf>[0] }

parentPort!.on('message', (request: PrintRequest) => {
  const pdf = request.kind === 'report' ? reportPdf(request.document) : invoicePdf(request.document)
  pdf.then(
    (bytes) => {
      const copy = new Uint8Array(bytes) // A buffer of its own can be transferred to the other thread.
      parentPort!.postMessage({ bytes: copy }, [copy.buffer])
    },
    (error: unknown) => parentPort!.postMessage({ failure: String(error) }),
  )
})
