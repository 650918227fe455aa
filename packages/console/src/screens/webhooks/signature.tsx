/** Whether a delivery is genuine: code to take along, and a place to try one. Nothing that is typed here leaves the browser. */
import { useState, type ReactElement } from 'react'
import { verifyWebhook } from '../../../../client/src/core.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, CopyButton, Field, Segmented } from '../../ui/kit.ts'
import { classes } from '../../ui/classes.ts'
import codeStyles from '../../ui/code.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

type Language = 'typescript' | 'python' | 'go'

const CODE: Readonly<Record<Language, string>> = {
  typescript: `import { verifyWebhook } from '@groundtrack/client'

// The bytes as they came: parsing and writing them again changes them.
const event = await verifyWebhook(body, request.headers['x-svc-signature'], secret)`,
  python: `import hashlib, hmac

def is_genuine(body: bytes, signature: str, secret: str) -> bool:
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(signature, "sha256=" + digest)`,
  go: `func isGenuine(body []byte, signature, secret string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	expected := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(signature), []byte(expected))
}`,
}

export function SignatureDialog({ onClose }: { onClose(): void }): ReactElement {
  const [language, setLanguage] = useState<Language>('typescript')
  const [body, setBody] = useState('')
  const [signature, setSignature] = useState('')
  const [secret, setSecret] = useState('')
  const [verdict, setVerdict] = useState<{ isGood: boolean; text: string } | null>(null)
  const check = async () => {
    try {
      const { event_type } = await verifyWebhook(body, signature.trim(), secret.trim())
      setVerdict({ isGood: true, text: `Valid signature: ${event_type}.` })
    } catch (error) {
      setVerdict({ isGood: false, text: error instanceof Error ? error.message : 'Could not verify the signature' })
    }
  }
  return (
    <Dialog title="Verify a signature" onClose={onClose} size={640}>
      <div className={classes(ui.flexColumn, ui.gap12)}>
        <div className={classes(ui.flexRow, ui.between, ui.wrap)}>
          <Segmented
            label="Language"
            value={language}
            onChange={setLanguage}
            options={[
              { value: 'typescript', text: 'TypeScript' },
              { value: 'python', text: 'Python' },
              { value: 'go', text: 'Go' },
            ]}
          />
          <CopyButton text={CODE[language]} />
        </div>
        <pre className={codeStyles.code} tabIndex={0}>
          {CODE[language]}
        </pre>
        <h3>Verify a request</h3>
        <div className={fieldStyles.field}>
          <label className={fieldStyles.label} htmlFor="signed-body">
            Raw request body
          </label>
          <textarea
            id="signed-body"
            className={classes(fieldStyles.input, ui.mono)}
            rows={4}
            value={body}
            onChange={(event) => setBody(event.target.value)}
          />
        </div>
        <Field
          label="X-Svc-Signature"
          className={fieldStyles.monoField}
          placeholder="sha256=…"
          value={signature}
          onChange={(event) => setSignature(event.target.value)}
        />
        <Field
          label="Secret"
          type="password"
          autoComplete="off"
          placeholder="whsec_…"
          value={secret}
          onChange={(event) => setSecret(event.target.value)}
          help="Verified in your browser; never sent."
        />
        <div className={classes(ui.flexRow, ui.gap12, ui.wrap)}>
          <Button variant="primary" disabled={!body || !signature || !secret} onClick={() => void check()}>
            Check
          </Button>
          <span role="status" className={verdict ? (verdict.isGood ? ui.success : ui.danger) : ''}>
            {verdict?.text}
          </span>
        </div>
      </div>
    </Dialog>
  )
}
