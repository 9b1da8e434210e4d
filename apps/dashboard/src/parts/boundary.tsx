// Catches what a page throws while it renders, above all a piece of code that a newer release no longer has.
import { Component, type ReactNode } from 'react';
import { Failure } from './failure';

export class Boundary extends Component<{ readonly children: ReactNode }, { readonly failure: Error | null }> {
  override state: { readonly failure: Error | null } = { failure: null };

  static getDerivedStateFromError(error: unknown): { failure: Error } {
    return { failure: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { failure } = this.state;
    if (failure === null) return this.props.children;
    return <Failure failure={failure} what="This page could not be shown" again={() => window.location.reload()} />;
  }
}
