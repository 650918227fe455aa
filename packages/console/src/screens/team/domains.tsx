/** Domains of email addresses that the organization has shown to be its own. */
import { useState, type FormEvent, type ReactElement } from 'react'
import type { SsoDomain } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { useWho } from '../../state/who.ts'
import { classes } from '../../ui/classes.ts'
import { Badge, Button, Card, CopyButton, Field } from '../../ui/kit.ts'
import { FormProblem, Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'
import styles from './team.module.css'

export function Domains(): ReactElement {
  const list = useOp('organizations.domains.list', {})
  const isOwner = useWho().role === 'owner'
  const [domain, setDomain] = useState('')
  const add = useAct('organizations.domains.add', ['organizations.domains'])
  const send = (event: FormEvent) => {
    event.preventDefault()
    add.mutate({ domain }, { onSuccess: () => setDomain('') })
  }
  return (
    <Card title="Allowed domains" flush>
      <p className={classes(ui.soft, ui.small, styles.inset)}>
        People with an email address in a verified domain can join through single sign-on. Only the owner of a domain can create its DNS
        record.
      </p>
      <Loaded query={list}>
        {({ domains }) => (
          <ul aria-label="Domains">
            {domains.map((one) => (
              <DomainRow key={one.domain} domain={one} isOwner={isOwner} />
            ))}
          </ul>
        )}
      </Loaded>
      {isOwner && (
        <form className={classes(ui.flexColumn, ui.gap12, styles.inset)} onSubmit={send}>
          <Field
            label="Domain"
            placeholder="coastal.example"
            required
            maxLength={253}
            value={domain}
            onChange={(event) => setDomain(event.target.value)}
          />
          <FormProblem error={add.error} />
          <div>
            <Button type="submit" busy={add.isPending}>
              Add domain
            </Button>
          </div>
        </form>
      )}
    </Card>
  )
}

function DomainRow({ domain, isOwner }: { domain: SsoDomain; isOwner: boolean }): ReactElement {
  const verify = useAct('organizations.domains.verify', ['organizations.domains'])
  const remove = useAct('organizations.domains.remove', ['organizations.domains'])
  const name = domain.domain
  const check = () =>
    verify.mutate(
      { domain: name },
      {
        onSuccess: ({ is_verified }) =>
          toast(
            is_verified ? `${name} is verified` : 'The record was not found. New records can take an hour.',
            is_verified ? 'ok' : 'bad',
          ),
      },
    )
  return (
    <li className={classes(listStyles.entry, styles.vendor)}>
      <div className={ui.grow}>
        <b>{name}</b> <Badge tone={domain.is_verified ? 'ok' : 'warn'}>{domain.is_verified ? 'verified' : 'not verified'}</Badge>
        {!domain.is_verified && (
          <p className={ui.small}>
            Create a TXT record at <span className={classes(ui.mono, ui.breakAnywhere)}>{domain.record_name}</span> with the text{' '}
            <span className={classes(ui.mono, ui.breakAnywhere)}>{domain.record_text}</span>, then check it here.
          </p>
        )}
        <FormProblem error={verify.error ?? remove.error} />
      </div>
      {isOwner && (
        <div className={classes(ui.flexRow, ui.wrap)}>
          {!domain.is_verified && <CopyButton text={domain.record_text} label="Copy text" />}
          <Button size="s" label={`Check ${name}`} busy={verify.isPending} onClick={check}>
            Check
          </Button>
          <Button
            size="s"
            variant="danger"
            label={`Remove ${name}`}
            busy={remove.isPending}
            onClick={() => remove.mutate({ domain: name }, { onSuccess: () => toast(`${name} is removed`) })}
          >
            Remove
          </Button>
        </div>
      )}
    </li>
  )
}
