import type { TextMessage, TurnDetail } from '@hindcast/contracts';
import { Empty } from '../../parts/empty';
import { Section } from '../../parts/page';

type Texts = Pick<TurnDetail, 'conversation' | 'answer' | 'nextState' | 'turn'>;

/** What led to the answer, the answer, and what came next. */
export function Conversation({ detail }: { readonly detail: Texts }) {
  const { conversation, answer, nextState, turn } = detail;
  if (conversation === null && answer === null && nextState === null)
    return (
      <Section title="Conversation">
        <Empty title={turn.state === 'open' ? 'No texts yet.' : 'The ledger keeps no texts of this turn.'}>
          {turn.state === 'open'
            ? 'They come with the next message of the conversation, or with feedback.'
            : 'They were not stored, or have been deleted since.'}
        </Empty>
      </Section>
    );
  return (
    <Section title="Conversation" note="As the judge sees it: long parts are cut in the middle.">
      <ol className="messages">
        {conversation?.map((message, i) => (
          <Message key={`c${i}`} message={message} />
        ))}
        {answer !== null && (
          <li className="message" data-kind="answer">
            <p className="message-role">the answer</p>
            <pre>{answer}</pre>
          </li>
        )}
        {nextState?.map((message, i) => (
          <Message key={`n${i}`} message={message} kind="next" />
        ))}
      </ol>
      {nextState === null && <p className="muted">Nothing has followed yet.</p>}
      {nextState?.length === 0 && <p className="muted">No message followed: feedback alone closed the turn.</p>}
    </Section>
  );
}

function Message({ message, kind }: { readonly message: TextMessage; readonly kind?: 'next' }) {
  return (
    <li className="message" data-kind={kind ?? message.role}>
      <p className="message-role">
        {kind === 'next' && 'next: '}
        {message.role}
        {message.toolName !== null && ` ${message.toolName}`}
      </p>
      <pre>{message.text === '' ? <span className="muted">empty</span> : message.text}</pre>
    </li>
  );
}
