/** Credentials at a vendor are entered, checked by the vendor and stored, or replaced. */
import { useState, type ReactElement } from 'react'
import type { AccountVendor } from '../../api/contract.ts'
import { useAct } from '../../api/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, Field, Note } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

type SecretField = AccountVendor['credentials'][number]

const FIELDS: Readonly<Record<SecretField, { label: string; isSecret: boolean }>> = {
  key: { label: 'API key', isSecret: true },
  user: { label: 'User name or email', isSecret: false },
  password: { label: 'Password', isSecret: true },
  client_id: { label: 'Client ID', isSecret: false },
  client_secret: { label: 'Client secret', isSecret: true },
}

interface ConnectParts {
  vendor: AccountVendor
  isReplacing: boolean
  onClose(): void
}

export function ConnectVendor({ vendor, isReplacing, onClose }: ConnectParts): ReactElement {
  const [values, setValues] = useState<{ readonly [field in SecretField]?: string }>({})
  const put = useAct('vendors.accounts.put', ['vendors', 'catalog'])
  const send = () =>
    put.mutate(
      { host_name: vendor.host_name, credentials: Object.fromEntries(vendor.credentials.map((field) => [field, values[field]?.trim()])) },
      {
        onSuccess: ({ status, title }) => {
          toast(
            status === 'accepted'
              ? `${title} is connected`
              : `${title} could not be reached; the account is stored and can be checked later`,
          )
          onClose()
        },
      },
    )
  return (
    <Dialog title={`${isReplacing ? 'Replace credentials of' : 'Connect'} ${vendor.title}`} onClose={onClose}>
      <form
        className={classes(ui.flexColumn, ui.gap12)}
        autoComplete="off"
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <p className={ui.soft}>
          {isReplacing
            ? 'Open orders continue with the new credentials.'
            : `New orders use this account, and the vendor bills you in ${vendor.currency}.`}{' '}
          The credentials are checked with the vendor before they are stored, kept encrypted and never shown again.
        </p>
        {!vendor.is_tested && <Note tone="warn">Built from public documentation, not yet tested with an account.</Note>}
        {vendor.credentials.map((field, index) => (
          <Field
            key={field}
            label={FIELDS[field].label}
            required
            maxLength={2_000}
            type={FIELDS[field].isSecret ? 'password' : 'text'}
            autoComplete={FIELDS[field].isSecret ? 'new-password' : 'off'}
            spellCheck={false}
            data-autofocus={index === 0 ? true : undefined}
            value={values[field] ?? ''}
            onChange={(event) => setValues({ ...values, [field]: event.target.value })}
          />
        ))}
        <FormProblem error={put.error} />
        <Button type="submit" variant="primary" busy={put.isPending}>
          {isReplacing ? 'Check and replace' : 'Check and connect'}
        </Button>
      </form>
    </Dialog>
  )
}
