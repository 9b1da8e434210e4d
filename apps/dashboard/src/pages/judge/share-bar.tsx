/** A share in [0, 1] as a bar; the number stands beside it. */
export function ShareBar({ share }: { readonly share: number }) {
  return (
    <span className="share-bar" aria-hidden="true">
      <span style={{ inlineSize: `${share * 100}%` }} />
    </span>
  );
}
