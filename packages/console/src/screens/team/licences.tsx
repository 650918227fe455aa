/** What vendors ask to be accepted before their scenes can be ordered. */
import { useState, type ReactElement } from 'react'
import { useAct, useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { date } from '../../ui/format.ts'
import { Badge, Button, Card, Page } from '../../ui/kit.ts'
import { Empty, FormProblem, Loaded } from '../../ui/states.tsx'
import { TeamNav } from './nav.tsx'
import { classes } from '../../ui/classes.ts'
import spendStyles from '../../parts/orders/spend.module.css'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

export function Licences(): ReactElement {
  const licences = useOp('eulas.list', { size: 50 })
  const [open, setOpen] = useState<{ eula: string; document: string } | null>(null)
  useTitle({ text: 'Team', to: '/team' }, 'Licences')
  return (
    <Page title="Licences" about="Vendor licences to accept before ordering. One member accepts on behalf of the organization.">
      <TeamNav />
      <Card className={ui.marginTop16} flush>
        <Loaded query={licences} empty={({ content }) => content.length === 0 && <Empty icon="lock" title="No licences required" />}>
          {({ content }) => (
            <ul>
              {content.map((licence) => (
                <li key={licence.id} className={listStyles.entry}>
                  <span className={ui.grow}>
                    <b>{licence.name}</b>
                    <br />
                    <span className={classes(ui.soft, ui.small)}>{licence.data_products.map(({ title }) => title).join(', ')}</span>
                  </span>
                  {licence.accepted ? (
                    <Badge tone="ok">accepted {date(licence.accepted_at)}</Badge>
                  ) : (
                    <Badge tone="warn">not accepted</Badge>
                  )}
                  <Button size="s" onClick={() => setOpen({ eula: licence.id, document: licence.current_document_id })}>
                    Read
                  </Button>
                </li>
              ))}
            </ul>
          )}
        </Loaded>
      </Card>
      {open && <LicenceDialog eulaId={open.eula} documentId={open.document} onClose={() => setOpen(null)} />}
    </Page>
  )
}

function LicenceDialog({ eulaId, documentId, onClose }: { eulaId: string; documentId: string; onClose(): void }): ReactElement {
  const document = useOp('eulas.document.get', { eula_id: eulaId, document_id: documentId })
  const accept = useAct('eulas.document.accept', ['eulas'])
  const who = useWho()
  const projects = useProjects()
  const canAccept = who.isAdmin || projects.data?.projects.some((project) => mayWrite(who, project))
  return (
    <Dialog title="Licence" onClose={onClose} size={620}>
      <Loaded query={document}>
        {(licence) => (
          <div className={classes(ui.flexColumn, ui.gap12)}>
            <p className={ui.soft}>
              Version {licence.version}, valid from {date(licence.valid_from)}
            </p>
            <div className={spendStyles.licenceText} tabIndex={0}>
              {licence.text}
            </div>
            <FormProblem error={accept.error} />
            {licence.accepted ? (
              <Badge tone="ok">accepted {date(licence.accepted_at)}</Badge>
            ) : canAccept ? (
              <Button
                variant="primary"
                busy={accept.isPending}
                onClick={() => accept.mutate({ eula_id: eulaId, document_id: documentId, is_accepted: true }, { onSuccess: onClose })}
              >
                Accept for the organization
              </Button>
            ) : (
              <p className={ui.soft}>Only an owner, an admin or an editor of a project can accept it.</p>
            )}
          </div>
        )}
      </Loaded>
    </Dialog>
  )
}
